# One line per lesson, in order: targets, tests, tables and the driver's list are made from it.
# fast marks the short way through the course; BUILDS_ON is the lesson that the program extends.
lesson(01 training_step TITLE "One transformer, one device, four columns" BUILDS_ON - TRACK fast)
