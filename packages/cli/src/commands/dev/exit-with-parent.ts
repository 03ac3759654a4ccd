// Preloaded into the runner of `perdure dev`: ends the runner when `perdure dev` has died without ending it.

process.once('disconnect', () => process.exit(1))
// The channel alone must not keep the process alive.
process.channel?.unref()
