import { type Fields, fieldsOf, isFields, listOf, optionalText } from '../../shared/fields.ts'

/** Options of a poll that are named. */
const MOST_OPTIONS = 12

/**
 * Returns what came with a message and is neither text nor file, one line each: a place, a contact, a poll, a die. It
 * is the sender's data, like the text; whoever shows it takes care that it passes for nothing else.
 */
export function readEnclosed(message: Fields): readonly string[] | undefined {
  const lines = [placeOf(message), contactOf(message), pollOf(message), dieOf(message)]
  const found = lines.filter((line) => line !== undefined)
  return found.length === 0 ? undefined : found
}

/** A venue comes with its location beside it, too. */
function placeOf({ venue, location }: Fields): string | undefined {
  if (isFields(venue)) {
    const words = [optionalText(venue.title), optionalText(venue.address), pointOf(venue.location)]
    return line('place', words)
  }
  const kind = isFields(location) && location.live_period !== undefined ? 'live location' : 'location'
  return line(kind, [pointOf(location)])
}

function pointOf(location: unknown): string | undefined {
  const { latitude, longitude } = isFields(location) ? location : {}
  return typeof latitude === 'number' && typeof longitude === 'number' ? `${latitude}, ${longitude}` : undefined
}

function contactOf({ contact }: Fields): string | undefined {
  if (!isFields(contact)) return undefined
  const name = [optionalText(contact.first_name), optionalText(contact.last_name)].filter(Boolean).join(' ')
  return line('contact', [name, optionalText(contact.phone_number)])
}

function pollOf({ poll }: Fields): string | undefined {
  if (!isFields(poll)) return undefined
  const options = listOf(poll.options).map((option) => optionalText(fieldsOf(option).text) ?? '')
  return line('poll', [optionalText(poll.question), options.slice(0, MOST_OPTIONS).join(' / ')])
}

function dieOf({ dice }: Fields): string | undefined {
  if (!isFields(dice) || typeof dice.value !== 'number') return undefined
  return line('die', [optionalText(dice.emoji), String(dice.value)])
}

function line(kind: string, words: readonly (string | undefined)[]): string | undefined {
  const said = words.filter((word) => word !== undefined && word !== '')
  return said.length === 0 ? undefined : `${kind}: ${said.join(', ')}`
}
