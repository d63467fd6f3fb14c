i=0
while [ $i -lt 5000 ]; do
    sleep 60 &
    i=$((i + 1))
done
