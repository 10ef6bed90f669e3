# Says hello to somebody.
echo "Hello $1"
