// Stands for react-query's watch of the browser's network in the build (vite.config.ts): reads go by the engine's answers alone
// (queries.ts).

export const onlineManager = {
  isOnline: (): boolean => true,
  subscribe: () => (): void => {},
}
