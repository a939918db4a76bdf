import { inspect } from 'node:util'

/** A value that never prints itself: text, JSON and inspection show `[secret]`. */
export class Secret {
  readonly #value: string

  constructor(value: string) {
    this.#value = value
  }

  /** The value itself, for the one call that needs it. */
  reveal(): string {
    return this.#value
  }

  toString(): string {
    return '[secret]'
  }

  toJSON(): string {
    return '[secret]'
  }

  [inspect.custom](): string {
    return '[secret]'
  }
}

/** Returns true if the value under this name, a key or a variable, is a secret. */
export function namesSecret(name: string): boolean {
  return /(token|secret|password|passphrase|api_?key)$/i.test(name)
}

/**
 * Returns true if a value that comes from elsewhere, under this name, is a secret. Variables of programs have more
 * names for one, such as `GITHUB_PAT` and `AWS_SECRET_ACCESS_KEY`.
 */
export function namesReferencedSecret(name: string): boolean {
  return namesSecret(name) || /(passwd|credentials?|[_-](key|pat|pass|auth|dsn))$/i.test(name)
}
