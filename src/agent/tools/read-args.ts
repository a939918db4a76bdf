import * as z from 'zod'
import { ParleyError } from '../../core/errors.ts'

const NO_TEXT = 'must be a text that is not empty'
const NO_NUMBER = 'must be a number'

/** A text that is not empty. */
export const text = z.string(NO_TEXT).refine((value) => value.trim() !== '', NO_TEXT)
/** A number, also one written as text. */
export const number = z.preprocess(
  (value) => (typeof value === 'string' && value.trim() !== '' ? Number(value) : value),
  z.number(NO_NUMBER),
)
/** True or false; false where none is given. */
export const flag = z.boolean('must be true or false').default(false)
/** The texts of a list, what is no text left out; a text by itself is a list of one. */
export const texts = z.preprocess(
  (value) => (typeof value === 'string' ? [value] : value),
  z.array(z.unknown(), 'must be a list of texts').transform((list) => list.filter((item) => typeof item === 'string')),
)

/**
 * Returns the arguments of a call, which a model may give as any JSON: null stands for none, unknown names are dropped.
 * Throws `invalid` in words for the model.
 */
export function readArgs<Shape extends z.ZodObject>(shape: Shape, args: unknown): z.output<Shape> {
  const given = Object.entries(args ?? {}).filter(([, value]) => value !== null)
  const { success, data, error } = shape.safeParse(Object.fromEntries(given))
  if (success) return data
  const [issue] = error.issues
  throw new ParleyError('invalid', `${issue?.path.join('.')} ${issue?.message}.`)
}
