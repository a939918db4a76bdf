import { existsSync } from 'node:fs'
import { toError } from '../core/errors.ts'
import type { McpServer } from '../core/mcp.ts'

/** The numbers of the library for its own errors, whose words say little to who reads the configuration. */
const CLOSED = -32_000
const TIMED_OUT = -32_001

/** Returns why a server could not be started or asked, in words that say where to look. */
export function startWords(error: unknown, at: McpServer['at'], waitedMs: number): string {
  const { message } = toError(error)
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  const late = `it did not answer within ${waitedMs / 1_000} s`
  if (at.kind === 'address') return code === TIMED_OUT ? late : message
  if (code === TIMED_OUT) return `${late}; one that downloads itself first, as with npx, may answer at the next try`
  if (code === CLOSED) return `${at.command} ended before it answered`
  if (code !== 'ENOENT') return message
  // The system says the same of a folder that is missing.
  if (at.folder !== undefined && !existsSync(at.folder)) return `there is no folder ${at.folder} to start it in`
  return `there is no program ${at.command} in PATH; install it, or write its whole path as command`
}
