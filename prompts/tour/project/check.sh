# Passes when the greeting is what it should be.
said=$(sh greeting.sh Ada)
if [ "$said" = "Hello, Ada!" ]; then
  echo "passed"
else
  echo "failed: said \"$said\" in place of \"Hello, Ada!\""
  exit 1
fi
