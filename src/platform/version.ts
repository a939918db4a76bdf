import { existsSync, readFileSync } from 'node:fs'

/**
 * The version in package.json, the nearest one above this file, which lies at another depth in a bundle than in the
 * sources.
 */
export const VERSION: string = readVersion(import.meta.url)

function readVersion(from: string): string {
  const here = new URL('.', from)
  const file = new URL('package.json', here)
  if (existsSync(file)) return String(JSON.parse(readFileSync(file, 'utf8')).version)
  const above = new URL('..', here)
  return above.href === here.href ? 'unknown' : readVersion(above.href)
}
