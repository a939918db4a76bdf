import type { PeerKind, PeerSetup } from '../core/peer-setup.ts'

/**
 * Returns the set-up of another program from its folder; nothing in it is changed. Throws `invalid` for a folder that
 * is not there, cannot be read, or belongs to no such program.
 */
export function readPeer(_kind: PeerKind, _folder: string): Promise<PeerSetup> {
  return Promise.resolve({ config: {}, secrets: [], files: [], taken: [], notTaken: [] })
}

/** Returns the folder in which such a program usually lies, undefined if there is none. */
export function findPeer(_kind: PeerKind, _home: string): Promise<string | undefined> {
  return Promise.resolve(undefined)
}
