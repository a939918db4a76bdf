import { getDefaultResultOrder, setDefaultResultOrder } from 'node:dns'
import { realpathSync } from 'node:fs'
import { setDefaultAutoSelectFamilyAttemptTimeout } from 'node:net'
import { isZone } from '../core/machine-zone.ts'
import { readProxies } from './proxies.ts'

/** A handshake across the world takes 400 ms, and a lost packet is sent again after one second. */
const ATTEMPT_MS = 2_500

/**
 * Puts right what this process takes from its host, before anything reads the time or connects; returns what is
 * doubtful there, in words. `env` is that of the process, whose TZ it changes.
 */
export function settleHost(env: NodeJS.ProcessEnv): readonly string[] {
  settleNetwork()
  // Node would print what a client library calls that is deprecated, in the middle of a question or an answer.
  process.noDeprecation = true
  return [...settleZone(env), ...readProxies(env)]
}

/**
 * Node tries the addresses of a name one after the other, for 250 ms each but the last. Beside an IPv6 address that
 * leads nowhere an IPv4 one that takes longer is then given up, or waited for at the end of all, where other programs
 * connect.
 */
function settleNetwork(): void {
  setDefaultAutoSelectFamilyAttemptTimeout(ATTEMPT_MS)
  // Whoever names another order, by NODE_OPTIONS, has it.
  if (getDefaultResultOrder() === 'verbatim') setDefaultResultOrder('ipv4first')
}

/** The folders in which systems keep their zones, by their names. */
const ZONE_FOLDER = /^.*\/zoneinfo\/(?:posix\/|right\/)?/

/** Writes TZ as Node reads it: neither `:/etc/localtime` nor a zone in quotes nor an empty one is a zone there. */
function settleZone(env: NodeJS.ProcessEnv): readonly string[] {
  const { TZ: named } = env
  if (named === undefined) return []
  const name = named
    .trim()
    .replace(/^(["'])(.*)\1$/, '$2')
    .replace(/^:/, '')
    .trim()
  const zone = name.startsWith('/') ? realPath(name).replace(ZONE_FOLDER, '') : name
  if (zone === '' || name === '/etc/localtime') {
    delete env.TZ
    return []
  }
  env.TZ = isZone(zone) ? zone : 'UTC'
  return env.TZ === zone
    ? []
    : [
        `TZ is "${named.slice(0, 80)}", which names no time zone, so that times are in UTC; write one such as Europe/Berlin`,
      ]
}

function realPath(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}
