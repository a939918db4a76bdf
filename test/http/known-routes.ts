import { isScope, type Scope } from '../../src/core/token.ts'
import { createRoutes } from '../../src/http/app.ts'

export interface KnownRoute {
  readonly method: string
  /** With names in braces. */
  readonly path: string
  /** Undefined for a route that asks for none. */
  readonly scope: Scope | undefined
}

/** Every route of the router's own list that asks for a token. */
export const GUARDED: readonly KnownRoute[] = createRoutes().openAPIRegistry.definitions.flatMap((definition) => {
  if (definition.type !== 'route') return []
  const { method, path, security } = definition.route
  if (security?.length === 0) return []
  return [{ method: method.toUpperCase(), path, scope: security?.[0]?.token?.find(isScope) }]
})

/** Returns the path with a session's name, percent-encoded, and `x` for every other one. */
export function filled(path: string, name: string): string {
  return path.replaceAll('{name}', encodeURIComponent(name)).replaceAll(/\{.+?\}/g, 'x')
}
