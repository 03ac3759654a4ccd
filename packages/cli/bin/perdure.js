#!/usr/bin/env -S node --max-semi-space-size=64
// Passes make much short-lived garbage: with a larger nursery less of it is copied.
import { main } from '../dist/main.js'

process.exitCode = await main(process.argv.slice(2))
