import { homedir } from 'node:os'

/** Returns the home folder; a user without an entry of its own has none, as in a container that runs under a bare number. */
export function userHome(): string | undefined {
  try {
    return homedir()
  } catch {
    return undefined
  }
}
