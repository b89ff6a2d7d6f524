# One line per lesson, in order: targets, tests, tables and the driver's list are made from it.
# fast marks the short way through the course; BUILDS_ON is the lesson that the program extends.
lesson(01 training_step TITLE "One transformer, one device, four columns" BUILDS_ON - TRACK fast)
lesson(02 activation_memory TITLE "The life of an activation: scores stored, or in tiles" BUILDS_ON 01 TRACK full)
lesson(03 checkpointing TITLE "Store or recompute: none, selective, full, every k-th block" BUILDS_ON 02 TRACK fast)
lesson(04 gradient_accumulation TITLE "Micro-batches and a loss weighted by tokens" BUILDS_ON 03 TRACK full)
lesson(08 collectives TITLE "Ring all-reduce: reduce-scatter, then all-gather" BUILDS_ON 01 TRACK fast)
lesson(09 cluster TITLE "Fast links inside nodes, slow ones between them" BUILDS_ON 08 TRACK full)
lesson(10 data_parallel TITLE "Replicas: every rank its own samples, one sum of gradients" BUILDS_ON 04 TRACK fast)
lesson(11 overlap TITLE "Reduce while backward still runs" BUILDS_ON 10 TRACK full)
