import { createHash } from 'node:crypto'
import type { AgentProfile } from './agent-profile.ts'

/** A short text that is another one as soon as the agent is configured differently: `model=1f… tools=9c…`. */
export type AgentVersion = string

/** Returns the version of an agent. The fields that differ can be read from two of them. */
export function agentVersion(agent: AgentProfile): AgentVersion {
  const fields = Object.entries(agent).filter(([name, value]) => name !== 'id' && value !== undefined)
  const digests = fields.map(([name, value]) => `${name}=${digestOf(value)}`)
  return digests.sort().join(' ')
}

/** Returns the names of the fields in which two versions of an agent differ, sorted. */
export function changedFields(before: AgentVersion, after: AgentVersion): readonly string[] {
  const [had, has] = [before.split(' '), after.split(' ')]
  const differing = [...had.filter((field) => !has.includes(field)), ...has.filter((field) => !had.includes(field))]
  return [...new Set(differing.map((field) => field.slice(0, field.indexOf('='))))].sort()
}

function digestOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 12)
}
