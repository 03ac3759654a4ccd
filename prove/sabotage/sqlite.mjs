// The SQLite module that `preload.mjs` gives to an engine. Environment variables change its behaviour: `PERDURE_PROVE_SYNC=off`
// commits without a sync; `PERDURE_PROVE_KILL=before 7` kills the process before its seventh commit is carried out, `after 7`
// kills it afterwards; `PERDURE_PROVE_COMMITS=FILE` appends a byte to a file for each commit.

import { appendFileSync } from 'node:fs'

const { PERDURE_PROVE_SYNC: sync, PERDURE_PROVE_KILL: kill = '', PERDURE_PROVE_COMMITS: counted } = process.env
const [moment, at] = kill.split(' ')
/** The module that the engine imports. */
const real = await import(new URL(import.meta.url).search.slice(1))
let commits = 0

export class DatabaseSync {
  #database

  constructor(path, options = {}) {
    this.#database = new real.DatabaseSync(path, options)
  }

  exec(sql) {
    this.#database.exec(sync === 'off' ? sql.replace('synchronous = FULL', 'synchronous = OFF') : sql)
  }

  prepare(sql) {
    const statement = this.#database.prepare(sql)
    return sql === 'COMMIT' ? new Commit(statement) : statement
  }

  function(...definition) {
    this.#database.function(...definition)
  }

  close() {
    this.#database.close()
  }
}

class Commit {
  #statement

  constructor(statement) {
    this.#statement = statement
  }

  run() {
    commits++
    if (counted !== undefined) appendFileSync(counted, '.')
    if (moment === 'before' && commits === Number(at)) process.kill(process.pid, 'SIGKILL')
    const answer = this.#statement.run()
    if (moment === 'after' && commits === Number(at)) process.kill(process.pid, 'SIGKILL')
    return answer
  }

  all() {
    return this.#statement.all()
  }

  setReturnArrays(enabled) {
    this.#statement.setReturnArrays(enabled)
  }
}

export const backup = real.backup
