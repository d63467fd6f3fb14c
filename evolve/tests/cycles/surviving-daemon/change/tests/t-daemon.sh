setsid sleep 86397 > /dev/null 2>&1 &
