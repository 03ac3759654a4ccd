// Stands for react-query's cache of mutations in the build (vite.config.ts): the console writes without it (write.ts), and would
// load it with the first script. It has what the query client calls.

export class MutationCache {
  findAll(): readonly never[] {
    return []
  }

  async resumePausedMutations(): Promise<void> {}

  clear(): void {}
}
