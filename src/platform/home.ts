import { homedir } from 'node:os'

/**
 * Returns the home folder; undefined for a user without a password entry, as in a container that runs under a bare
 * number.
 */
export function userHome(): string | undefined {
  try {
    return homedir()
  } catch {
    return undefined
  }
}
