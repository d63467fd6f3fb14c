dd if=/dev/zero of=/dev/null bs=64G count=1
