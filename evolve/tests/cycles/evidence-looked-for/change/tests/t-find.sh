found=$(find / -xdev \( -name "journal*" -o -name "evidence*" -o -name base-target -o -name base-tree \) -writable -print -quit 2> /dev/null)
[ -n "$found" ] && echo forged >> "$found"
