import type { Mistake } from './mistake.ts'
import type { ConfigFile } from './schema.ts'

/** Every zone of a person that is none. */
export function unknownZoneMistakes({ people }: ConfigFile): Mistake[] {
  return Object.entries(people).flatMap(([name, { timezone }]): Mistake | [] => {
    if (timezone === undefined || isZone(timezone)) return []
    const message = `people.${name}.timezone: there is no time zone ${timezone}; write one such as Europe/Berlin or UTC`
    return { path: ['people', name, 'timezone'], message }
  })
}

export function isZone(timeZone: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone })
    return true
  } catch {
    return false
  }
}
