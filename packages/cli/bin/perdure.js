#!/usr/bin/env node
import { main } from '../dist/bundle/main.js'

/** Time for what is still open when the command has ended: a connection or a thread that hangs must not keep the process. */
const END_MS_MAX = 1000

process.exitCode = await main(process.argv.slice(2))
setTimeout(() => process.exit(), END_MS_MAX).unref()
