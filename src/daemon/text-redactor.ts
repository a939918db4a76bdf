import type { Config } from '../config/config.ts'
import { createTextRedactor } from '../core/redact.ts'

/** Returns the function that takes the values of the configured secrets out of a text. */
export function textRedactor({ secrets = [] }: Pick<Config, 'secrets'>): (text: string) => string {
  return createTextRedactor(secrets.map((secret) => secret.reveal()))
}
