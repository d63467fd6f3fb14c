mkdir -p .git/hooks
echo "touch /tmp/planted" > .git/hooks/post-checkout
echo "ref: refs/heads/other" > .git/HEAD
