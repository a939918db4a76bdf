import type { PersonId } from './ids.ts'
import type { Role } from './session.ts'

/**
 * The one who asks for a session, by any entrance. `operator`: the local socket, guarded by its file mode, or the token
 * of an owner, which is named; has an owner's authority. `person`: somebody whose ids were resolved for this very
 * request. `token`: a channel token, which reaches only session ids that begin with its namespace and a colon, and
 * speaks only for senders of that namespace (S42).
 */
export type Caller =
  | { readonly kind: 'operator'; readonly token?: string }
  | { readonly kind: 'person'; readonly person?: PersonId; readonly role: Role }
  | { readonly kind: 'token'; readonly namespace: Namespace; readonly token?: string }

declare const brand: unique symbol
/** `telegram`, `web:alice`: lower-case parts set off by colons, never empty (F-H09). */
export type Namespace = string & { readonly [brand]: 'Namespace' }

/** Undefined for anything that is no namespace: an empty one would hold every session. */
export function parseNamespace(text: string): Namespace | undefined {
  return /^[a-z0-9_-]{1,64}(:[a-z0-9_-]{1,64}){0,3}$/.test(text) ? (text as Namespace) : undefined
}

/** Exact, so that no other spelling of a name reaches it: not `WEB:alice:`, not `web:alice2:`, not `web%3Aalice:`. */
export function inNamespace(namespace: Namespace, name: string): boolean {
  return name.startsWith(`${namespace}:`)
}

/** The beginning of the id of a node's one session; the whole id is the namespace of its token. */
const NODE = 'node-'

/** Returns true for a session in a namespace, by its id: one of its names, or the session of the node itself. */
export function holdsSession(namespace: Namespace, session: string): boolean {
  return inNamespace(namespace, session) || (session === `${namespace}` && isNodeId(session))
}

/** Returns true for the id of a node's session, which has no colon in it. */
export function isNodeId(session: string): boolean {
  return session.startsWith(NODE) && !session.includes(':')
}

/** The parts that a namespace has at most. */
const MOST_PARTS = 4

/** Returns every namespace that holds a session: `api` and `api:shop` for `api:shop:1`; a node's is its id. */
export function namespacesOf(session: string): readonly string[] {
  if (isNodeId(session)) return [session]
  const parts = session.split(':')
  return parts.slice(0, Math.min(MOST_PARTS, parts.length - 1)).map((_, at) => parts.slice(0, at + 1).join(':'))
}
