// Loaded first by the runner of `perdure dev`: should that be gone without a goodbye, the runner ends too.

process.once('disconnect', () => process.exit(1))
// The channel alone keeps no process alive.
process.channel?.unref()
