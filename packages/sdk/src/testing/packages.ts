// The packages the kit stands on. Both are ES modules: a dynamic import is what loads them from CommonJS too, whatever
// loads the kit.

export interface Packages {
  readonly client: typeof import('@perdure/client')
  readonly engine: typeof import('@perdure/engine')
}

export async function loadPackages(): Promise<Packages> {
  const [client, engine] = await Promise.all([import('@perdure/client'), import('@perdure/engine')])
  return { client, engine }
}
