#!/usr/bin/env node
import { main } from '@perdure/cli'

process.exitCode = await main(['init', ...process.argv.slice(2)])
