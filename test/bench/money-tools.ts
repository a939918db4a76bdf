import type { Tool } from '../../src/core/turn.ts'
import { textOf } from './money-talk.ts'

/**
 * Six tools of a usual household assistant: with the four groups' own, `current_time` and the three of the sessions, an
 * agent has ten. Their answers depend on their arguments alone.
 */
export const householdTools: readonly Tool[] = [
  tool('notes_search', 'Finds notes of the household by words in them, newest first.', {
    query: ['string', 'Words that all occur in the note.'],
    limit: ['integer', 'The most notes to return. Default: 5.'],
  }),
  tool('notes_add', 'Writes a new note of the household; everybody in it can read the note.', {
    title: ['string', 'A title of one line.'],
    text: ['string', 'The text of the note, in Markdown.'],
  }),
  tool('calendar_list', 'Lists what is in the calendar of the household on one day, in order of time.', {
    day: ['string', 'The day as YYYY-MM-DD, in the time zone of the household.'],
  }),
  tool('calendar_add', 'Puts an appointment into the calendar of the household.', {
    day: ['string', 'The day as YYYY-MM-DD, in the time zone of the household.'],
    time: ['string', 'The time as HH:MM; without it the appointment is for the whole day.'],
    title: ['string', 'The words to be shown for it.'],
  }),
  tool('shopping_list', 'Returns the shopping list of the household, and adds or strikes items first where asked to.', {
    add: ['string', 'Items to add, with commas between them.'],
    strike: ['string', 'Items that were bought, with commas between them.'],
  }),
  tool('weather_forecast', 'The weather of the next days at a place, with the temperatures of day and night.', {
    place: ['string', 'The name of a town, with its country if there are several.'],
    days: ['integer', 'The number of days, 1 to 10. Default: 3.'],
  }),
]

function tool(name: string, description: string, fields: Readonly<Record<string, readonly [string, string]>>): Tool {
  const properties = Object.fromEntries(
    Object.entries(fields).map(([field, [type, text]]) => [field, { type, description: text }]),
  )
  return {
    class: 'pure',
    reach: 'inside',
    spec: { name, description, parameters: { type: 'object', properties, additionalProperties: false } },
    run: async (args) => textOf(sumOf(JSON.stringify(args))),
  }
}

function sumOf(text: string): number {
  return [...text].reduce((sum, letter) => sum * 31 + letter.charCodeAt(0), 7) % 10_000
}
