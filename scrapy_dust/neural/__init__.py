"""The sequence-to-sequence canonizer of Xu, Liu and Callan (SIGIR 2017): a site's duplicates teach it to translate URLs.

A network may propose; evidence decides. What it says is a key for `dusteval`, where it is measured as published, and
for `dustmine` a source of candidates that pass the trials which all others pass. PyTorch is needed by four modules
(`network`, `training`, `decoding`, `translator`) and imported by nothing else; the others know no more than numbers.
"""
