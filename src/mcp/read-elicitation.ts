import * as z from 'zod'
import { lookOf, plainName } from '../core/label.ts'
import type { FreeAnswer } from '../core/question.ts'
import { measureJson } from '../core/read-json.ts'

/** One field that a server wants filled in. */
export interface AskedField {
  readonly name: string
  /** The server's words about it. */
  readonly words: string
  readonly required: boolean
  /** The answers to choose from, each with its value. */
  readonly choices: readonly { readonly label: string; readonly value: string | number | boolean }[]
  /** Other answers count as well. */
  readonly free?: FreeAnswer
}

/** A server's question with its fields; without any, a yes is all it wants. */
export interface Elicitation {
  readonly message: string
  readonly fields: readonly AskedField[]
}

/** Our own choices of each question; a server that offers the same words could be mistaken for us. */
export const DECLINE = 'Decline'
export const CANCEL = 'Cancel'
export const EMPTY = 'Leave empty'
const OURS: readonly string[] = [DECLINE, CANCEL, EMPTY].map((label) => label.toLowerCase())
/** Controls, and what turns the direction of a text. */
const UNFIT = /[\p{Cc}\p{Bidi_Control}\p{Cs}]/u

const MOST_FIELDS = 5
/** Every platform shows so many buttons, with ours below them. */
const MOST_CHOICES = 20
const LONGEST_MESSAGE = 1_000
const LONGEST_WORDS = 300
const LONGEST_LABEL = 60
const LONGEST_TEXT = 2_000

const count = z.number().int().min(0)
const BASE = { title: z.string().optional(), description: z.string().optional(), default: z.unknown().optional() }
const named = z.object({ const: z.string(), title: z.string() })
const FIELD = z.union([
  z.object({ ...BASE, type: z.literal('boolean') }),
  z.object({
    ...BASE,
    type: z.enum(['number', 'integer']),
    minimum: z.number().optional(),
    maximum: z.number().optional(),
  }),
  z.object({
    ...BASE,
    type: z.literal('string'),
    enum: z.array(z.string()).min(1),
    enumNames: z.array(z.string()).optional(),
  }),
  z.object({ ...BASE, type: z.literal('string'), oneOf: z.array(named).min(1) }),
  z.object({ ...BASE, type: z.literal('string'), minLength: count.optional(), maxLength: count.optional() }),
])
type Field = z.output<typeof FIELD>
const FORM = z.object({
  mode: z.literal('form').optional(),
  message: z.string(),
  requestedSchema: z.object({
    type: z.literal('object'),
    properties: z.record(z.string(), z.unknown()).default({}),
    required: z.array(z.string()).default([]),
  }),
})

/** Values of a form, which are counted before anything walks it. */
const MOST_VALUES = 2_000

/** Reads what a server asks; returns why it cannot be put to a person, if that is so. Pure. */
export function readElicitation(params: unknown): Elicitation | string {
  if (isTooLarge(params)) return 'its form is too large'
  const form = FORM.safeParse(params)
  if (!form.success) return 'it is no form of flat fields'
  const { message, requestedSchema } = form.data
  if (message.length > LONGEST_MESSAGE) return `its words are longer than ${LONGEST_MESSAGE} characters`
  const given = Object.entries(requestedSchema.properties)
  if (given.length > MOST_FIELDS) return `it has more than ${MOST_FIELDS} fields`
  const fields: AskedField[] = []
  for (const [name, schema] of given) {
    const field = FIELD.safeParse(schema)
    if (!field.success)
      return `its field ${name.slice(0, LONGEST_LABEL)} is neither text, number, yes or no, nor a choice`
    const read = readField(name, field.data, requestedSchema.required.includes(name))
    if (typeof read === 'string') return read
    fields.push(read)
  }
  return { message: message.trim(), fields }
}

function isTooLarge(params: unknown): boolean {
  try {
    measureJson(JSON.stringify(params) ?? '', { values: MOST_VALUES })
    return false
  } catch {
    return true
  }
}

function readField(name: string, field: Field, required: boolean): AskedField | string {
  const { title = name, description = '' } = field
  const words = [title, description].filter((part) => part.trim() !== '').join(': ')
  if (words.length > LONGEST_WORDS) return `the words of a field are longer than ${LONGEST_WORDS} characters`
  const free = freeOf(field)
  const choices = withDefault(choicesOf(field), field, free)
  if (choices.length > MOST_CHOICES) return `a field has more than ${MOST_CHOICES} choices`
  if (choices.some(({ label }) => label.length > LONGEST_LABEL || UNFIT.test(label) || isOursOrBlank(label)))
    return 'a choice has no label, one that is too long, or one of mine'
  return { name, words, required, choices, ...(free === undefined ? {} : { free }) }
}

/** Also for one of ours in another dress. */
function isOursOrBlank(label: string): boolean {
  return plainName(label) === '' || OURS.includes(lookOf(label))
}

/**
 * Returns the choices with the value that the server would take first, under words of ours. A value that is no answer
 * to the field, or does not fit on a button, is left out.
 */
function withDefault(
  choices: AskedField['choices'],
  field: Field,
  free: FreeAnswer | undefined,
): AskedField['choices'] {
  const { default: value } = field
  const known = choices.find((one) => one.value === value)
  const isNew = known === undefined && free !== undefined && isAnswer(value, free)
  if (known === undefined && !isNew) return choices
  const label = `Default: ${known?.label ?? String(value)}`
  if (label.length > LONGEST_LABEL || UNFIT.test(label)) return choices
  const others = choices.filter((one) => one !== known)
  return [{ label, value: known?.value ?? (value as string | number) }, ...others]
}

function isAnswer(value: unknown, free: FreeAnswer): boolean {
  const { min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY } = free
  if (free.kind === 'text')
    return typeof value === 'string' && value.trim() !== '' && value.length >= min && value.length <= max
  return (
    typeof value === 'number' && value >= min && value <= max && (free.kind === 'number' || Number.isInteger(value))
  )
}

function choicesOf(field: Field): AskedField['choices'] {
  if (field.type === 'boolean')
    return [
      { label: 'Yes', value: true },
      { label: 'No', value: false },
    ]
  if ('enum' in field) return field.enum.map((value, at) => ({ label: field.enumNames?.[at] ?? value, value }))
  return 'oneOf' in field ? field.oneOf.map(({ const: value, title }) => ({ label: title, value })) : []
}

function freeOf(field: Field): FreeAnswer | undefined {
  if (field.type === 'boolean' || 'enum' in field || 'oneOf' in field) return undefined
  if (field.type === 'string') {
    const { minLength: min, maxLength: max = LONGEST_TEXT } = field
    return { kind: 'text', max: Math.min(max, LONGEST_TEXT), ...(min === undefined ? {} : { min }) }
  }
  const { type: kind, minimum: min, maximum: max } = field
  return { kind, ...(min === undefined ? {} : { min }), ...(max === undefined ? {} : { max }) }
}
