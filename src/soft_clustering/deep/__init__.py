"""Methods that learn an embedding with a neural network (extra ``deep``); torch is imported when one is fitted."""
