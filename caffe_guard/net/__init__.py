"""The net as Caffe sees it: upgrade, phases, graph, shapes, who needs backward."""
