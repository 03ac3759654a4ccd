#!/usr/bin/env node
import { main } from '@perdure/cli'

process.exitCode = await main(process.argv.slice(2))
