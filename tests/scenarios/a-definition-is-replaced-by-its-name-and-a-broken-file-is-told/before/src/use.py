from counter import Counter

Counter().add(1)
