// Runs code of a handler as a branch of it. Called by race.ts and map.ts.

import { branchWithin, type PassScope, passScope } from '../pass/pass-scope.ts'
import { Branch } from '../run/branch.ts'

/** Begins a branch here. Returns it with the function that runs code in it. */
export function beginBranch(pass: object): { branch: Branch; within<T>(run: () => T): T } {
  const branch = new Branch(branchWithin(pass))
  const scope: PassScope = { ...(passScope.getStore() as PassScope), branch }
  return { branch, within: run => passScope.run(scope, run) }
}
