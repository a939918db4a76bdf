import type { ConfigFile } from './schema.ts'

/** One warning for each setting that is read and checked, but belongs to a feature that does not run yet. */
export function noEffectWarnings(file: ConfigFile): readonly string[] {
  const used: string[] = []
  if (file.models.openai !== undefined) used.push('models.openai')
  for (const [index, rule] of file.routing.access.groups.entries()) {
    if (rule.followThreads) used.push(`routing.access.groups[${index}].followThreads`)
  }
  for (const key of ['turnCap', 'checkpoint', 'staleDays'] as const) {
    if (file.session[key] !== undefined) used.push(`session.${key}`)
  }
  if (file.http !== undefined) used.push('http')
  return used.map((path) => `${path}: has no effect yet`)
}
