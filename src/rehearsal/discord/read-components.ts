import { invalidField } from './api-error.ts'
import type { ApiButton, ApiRow } from './api-types.ts'
import { isRecord } from './read-body.ts'
import type { RestCall } from './rest-api.ts'

const [ROW, BUTTON] = [1, 2]
const MOST = { rows: 5, buttons: 5, label: 80, id: 100 }

/** Returns the rows of buttons of a message, within the platform's limits; other components are not rehearsed. */
export function readComponents({ body: { components } }: RestCall): readonly ApiRow[] {
  if (components === undefined) return []
  if (!Array.isArray(components) || components.length > MOST.rows) throw bad('components')
  return components.map((row: unknown) => {
    if (!isRecord(row) || row.type !== ROW || !Array.isArray(row.components)) throw bad('components.type')
    if (row.components.length === 0 || row.components.length > MOST.buttons) throw bad('components.components')
    return { type: 1, components: row.components.map(readButton) }
  })
}

function readButton(button: unknown): ApiButton {
  if (!isRecord(button) || button.type !== BUTTON || typeof button.style !== 'number') throw bad('components.type')
  const { style, label, custom_id: id } = button
  if (typeof label !== 'string' || label === '' || label.length > MOST.label) throw bad('components.label')
  if (typeof id !== 'string' || id === '' || id.length > MOST.id) throw bad('components.custom_id')
  return { type: 2, style, label, custom_id: id }
}

function bad(field: string): Error {
  return invalidField(field, 'BASE_TYPE_BAD_LENGTH', 'The components are not valid.')
}
