// Small file systems that tests fill. This user must be able to mount them, as root is.

import { execFileSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { onCleanup } from '../cleanup.ts'
import { uniqueHere } from '../temp.ts'
import { freshSchema, POSTGRES_URL } from './postgres.ts'

/** The folder of a new file system of that size; undefined, with a line in the output, where this user cannot mount one. */
export function smallFileSystem(kib: number): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'perdure-small-'))
  chmodSync(folder, 0o711)
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${kib}k`, 'tmpfs', folder], { stdio: 'ignore' })
  } catch {
    rmdirSync(folder)
    console.warn('tests on a full disk are skipped: this user cannot mount a file system')
    return undefined
  }
  onCleanup(() => {
    execFileSync('umount', [folder])
    rmdirSync(folder)
  })
  return folder
}

/** Writes to the file system until it is full. */
export function fill(folder: string): void {
  try {
    for (;;) writeFileSync(join(folder, 'fill'), Buffer.alloc(4096), { flag: 'a' })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
  }
}

/**
 * The address of a new schema whose tables are on the file system; undefined, with a line in the output, unless PostgreSQL runs
 * on this machine as the user `postgres`.
 */
export async function schemaOn(folder: string): Promise<string | undefined> {
  const tablespace = uniqueHere('small').replaceAll('-', '_')
  try {
    execFileSync('chown', ['postgres', folder], { stdio: 'ignore' })
    await onServer(`CREATE TABLESPACE ${tablespace} LOCATION '${folder}'`)
  } catch (error) {
    console.warn(`tests of PostgreSQL on a full disk are skipped: ${(error as Error).message}`)
    return undefined
  }
  onCleanup(() => onServer(`DROP TABLESPACE ${tablespace}`))
  const url = new URL(await freshSchema())
  url.searchParams.set('options', `${url.searchParams.get('options')} -c default_tablespace=${tablespace}`)
  return url.href
}

async function onServer(sql: string): Promise<void> {
  const client = new Client({ connectionString: POSTGRES_URL })
  await client.connect()
  await client.query(sql).finally(() => client.end())
}
