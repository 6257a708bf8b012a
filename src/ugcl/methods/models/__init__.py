"""Models: the `nn.Module`s that methods train."""
