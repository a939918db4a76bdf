import * as z from 'zod'

/**
 * The schema of an answer, exactly of this type: the compiler refuses one that allows more or less. It is tolerant when
 * it reads: fields and words that are not known yet pass, so that a program understands the daemon of another version.
 */
export type Shape<Value> = z.ZodType<Value, Value> & { readonly exactly?: (value: Value) => void }

/** A field that may be absent. */
interface Maybe<Value> {
  readonly absentOr: Shape<Value>
}

/** A shape for each field of a type; none may be missing, and one that may be absent has to say so. */
type Fields<Value> = {
  readonly [Name in keyof Value]-?: Record<never, never> extends Pick<Value, Name>
    ? Maybe<Exclude<Value[Name], undefined>>
    : Shape<Value[Name]>
}

export const text: Shape<string> = z.string()
export const flag: Shape<boolean> = z.boolean()
export const count: Shape<number> = z.number()
export const nothing: Shape<null> = z.null()
export const always: Shape<true> = z.literal(true)
/** The latest moment that a `Date` can hold. */
const LATEST = 8.64e15
export const time: Shape<number> = z.number().min(-LATEST).max(LATEST).meta({ description: 'ms since the epoch' })
export const texts = list(text)

/** Returns the shape of an id, which is any text on the wire. */
export function id<Id extends string>(): Shape<Id> {
  return z.string() as z.ZodType<string> as Shape<Id>
}

export function maybe<Value>(absentOr: Shape<Value>): Maybe<Value> {
  return { absentOr }
}

export function list<Value>(one: Shape<Value>): Shape<readonly Value[]> {
  return z.array(one) as z.ZodType as Shape<readonly Value[]>
}

export function record<Value>(one: Shape<Value>): Shape<Readonly<Record<string, Value>>> {
  return z.record(z.string(), one) as z.ZodType as Shape<Readonly<Record<string, Value>>>
}

/** Returns the shape of one of these words, or of a word of another version. */
export function oneOf<Word extends string>(words: Readonly<Record<Word, true>>): Shape<Word> {
  return z.string().meta({ enum: Object.keys(words) }) as z.ZodType as Shape<Word>
}

/** Returns the shape of this very value. */
export function only<const Value extends string | number>(value: Value): Shape<Value> {
  return z.literal(value) as z.ZodType as Shape<Value>
}

export function either<Shapes extends readonly [z.ZodType, ...z.ZodType[]]>(
  ...shapes: Shapes
): Shape<z.output<Shapes[number]>> {
  return z.union(shapes) as z.ZodType as Shape<z.output<Shapes[number]>>
}

/** Returns the shape of an object; with a name it stands in the document once, by that name. */
export function object<Value extends object>(fields: Fields<Value>, name?: string): Shape<Value> {
  const given = fields as Readonly<Record<string, Shape<unknown> | Maybe<unknown>>>
  const shape = Object.entries(given).map(([field, of]): [string, z.ZodType] => [
    field,
    'absentOr' in of ? of.absentOr.optional() : of,
  ])
  return named(z.object(Object.fromEntries(shape)), name) as Shape<Value>
}

/** Returns the shape of an object of which only these fields are described; there may be any others. */
export function objectWith<Value extends object>(fields: z.ZodRawShape, name: string): Shape<Value> {
  return named(z.looseObject(fields), name) as Shape<Value>
}

function named(schema: z.ZodType, name: string | undefined): z.ZodType {
  return name === undefined ? schema : schema.meta({ id: name })
}
