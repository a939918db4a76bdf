import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { ParleyError } from '../../core/errors.ts'
import { failpoint } from '../../core/failpoint.ts'
import { isFull } from '../../core/full-disk.ts'
import type { StoreForm } from '../../core/store-conversion.ts'
import type { StoreKey } from '../../core/store-key.ts'
import { privateFile } from '../../platform/private-folder.ts'
import { sync, wipe } from '../../platform/wipe.ts'
import { convertDatabase, OtherContents, type Recode } from './convert-database.ts'
import { cipherDriver, openEither } from './sqlite-cipher.ts'
import { isNoDatabase, isOfTheFile, translate } from './sqlite-error.ts'
import { type DatabasePlace, prepareFiles } from './sqlite-files.ts'
import { conversionFile, formOf, wrongKey } from './sqlite-form.ts'
import { lockStore } from './sqlite-lock.ts'
import { createRecode } from './sqlite-recode.ts'

export interface StoreConversion {
  readonly path: string
  readonly key: StoreKey
  readonly to: StoreForm
  /** Converts what belongs to the store beside its database, in the folder; called once the database has its form. */
  beside(this: void): Promise<void>
  /** Replaces the driver that encrypts. */
  readonly recode?: Recode
}

export interface StoreConverted {
  /** Database files that were brought into the form. */
  readonly converted: readonly string[]
  /** Those that were not, each with the reason. */
  readonly left: readonly string[]
}

/**
 * Brings a store into a form: the database, then the copies made before migrations, then what is beside them. A file
 * stands beside the database meanwhile, so that no daemon opens half of it; called again after a crash, it continues.
 * Rejects with `store_locked` while a daemon runs, with `config` for a key that does not open the database.
 */
export async function convertStore({ path: given, key, to, beside, recode }: StoreConversion): Promise<StoreConverted> {
  // Throws before anything is touched where the driver is not installed.
  if (recode === undefined) cipherDriver()
  const place = prepareFiles(given)
  const { path, folder } = place
  const lock = lockStore(place)
  try {
    const coder = recode ?? createRecode(key, folder)
    if (recode === undefined) checkKey(path, key)
    const resumed = begin(place, key)
    const main = convertMain(place, { to, coder, resumed })
    const copies = copiesOf(path).map((copy) => convertCopy(copy, { place, to, coder }))
    await beside()
    failpoint('CP39-store-converted')
    rmSync(conversionFile(path))
    sync(folder.path)
    const all = [main, ...copies]
    const converted = all.flatMap((one) => one.converted)
    const left = [...all.flatMap((one) => one.left), ...(to === 'encrypted' ? othersOf(path) : [])]
    return { converted, left }
  } catch (error) {
    throw withRemedy(error)
  } finally {
    lock.release()
  }
}

/** The system's own words name the file; the store is whole whatever it was that failed. */
function withRemedy(error: unknown): unknown {
  const full = isFull(error)
  if (!(error instanceof Error) || !(full || 'errno' in error)) return error
  const remedy = full ? 'Free some space' : 'Check owner and mode of the file and its folder, and the disk'
  const message = `The conversion did not come to its end (${error.message}). ${remedy}, then run the command once more: it goes on where it was.`
  return new ParleyError('unavailable', message, { cause: error })
}

/** Looks at the first file only: the key of the others is the same, unless somebody put them there. */
function checkKey(path: string, key: StoreKey): void {
  const form = formOf(path)
  if (form === 'other')
    throw new ParleyError('unavailable', `${path} is no database, or a damaged one; restore a backup`)
  if (form !== 'encrypted') return
  const database = openEither(path, key, { readonly: true })
  try {
    database.prepare('SELECT count(*) FROM sqlite_schema').get()
  } catch (error) {
    throw isNoDatabase(error) ? wrongKey(path, error) : translate(error)
  } finally {
    database.close()
  }
}

/**
 * Returns true if an earlier conversion was interrupted. Throws `config` for one that was begun with another key: its
 * files that are encrypted could not be read any more.
 */
function begin({ path, folder }: DatabasePlace, key: StoreKey): boolean {
  const file = conversionFile(path)
  const resumed = existsSync(file)
  const [mark, other] = [markOf(key), resumed ? MARK.exec(readFileSync(file, 'utf8'))?.[0] : undefined]
  if (other !== undefined && other !== mark) throw new ParleyError('config', `${path} ${BEGUN_WITH_ANOTHER}`)
  // A full disk could take the mark from a file that is written anew.
  if (other === mark) return resumed
  try {
    privateFile(file, folder)
    writeFileSync(file, `Run "parley store encrypt" or "parley store decrypt" to the end.\n${mark}\n`)
    sync(file)
    sync(folder.path)
  } catch (error) {
    // Nothing has happened: on a full disk the daemon may still start.
    if (!resumed) rmSync(file, { force: true })
    throw error
  }
  return resumed
}

const MARK = /\bkey [0-9a-f]{64}\b/
const BEGUN_WITH_ANOTHER =
  'is partly encrypted: a conversion was begun with another key and interrupted. Set store.key to that key and run the command once more; then decrypt, and encrypt with the new one.'

/** Tells keys apart, and says nothing of them. */
function markOf(key: StoreKey): string {
  return `key ${key.derive('conversion').toString('hex')}`
}

interface MainParts {
  readonly to: StoreForm
  readonly coder: Recode
  readonly resumed: boolean
}

/** A failure before anything has happened leaves the store as it was, and a daemon may open it. */
function convertMain({ path, folder }: DatabasePlace, { to, coder, resumed }: MainParts): StoreConverted {
  const before = formOf(path)
  try {
    const left = convertDatabase(path, to, folder, coder).map(linkedElsewhere)
    return { converted: before === formOf(path) ? [] : [path], left }
  } catch (error) {
    if (!resumed && before === formOf(path)) rmSync(conversionFile(path), { force: true })
    if (!isOfTheFile(error)) throw error
    const message = `${path} is damaged, so it cannot be converted, and stays as it was. Restore a backup.`
    throw new ParleyError('unavailable', message, { cause: error })
  }
}

interface CopyParts {
  readonly place: DatabasePlace
  readonly to: StoreForm
  readonly coder: Recode
}

/**
 * A copy is not needed to run: one that the key does not open, or that is damaged, stays as it is and is named. A
 * failure that has nothing to do with what is in it, such as a full disk, is one: the next call continues here.
 */
function convertCopy(path: string, { place, to, coder }: CopyParts): StoreConverted {
  const before = formOf(path)
  try {
    const left = convertDatabase(path, to, place.folder, coder).map(linkedElsewhere)
    return { converted: before === formOf(path) ? [] : [path], left }
  } catch (error) {
    if (!isOfTheFile(error) && !(error instanceof OtherContents)) throw error
    return { converted: [], left: [`${path}: the key does not open it, or it is damaged; it stays as it is`] }
  }
}

/** The copies that were made before migrations; one that was not completed is removed. */
function copiesOf(path: string): readonly string[] {
  const beside = filesBeside(path).filter((name) => /\.before-v\d+/.test(name))
  for (const partial of beside.filter((name) => name.endsWith('.partial'))) wipe(partial)
  return beside.filter((name) => /\.before-v\d+$/.test(name))
}

/** Plain databases that somebody else made beside ours. */
function othersOf(path: string): readonly string[] {
  return filesBeside(path).flatMap((name) => {
    try {
      return formOf(name) === 'plain' ? [`${name}: is a plain database that somebody put there`] : []
    } catch {
      return [`${name}: cannot be read, and may be a plain database that somebody put there`]
    }
  })
}

function filesBeside(path: string): readonly string[] {
  const [folder, name] = [join(path, '..'), basename(path)]
  const entries = readdirSync(folder, { withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile() && entry.name.startsWith(`${name}.`))
    .map((entry) => join(folder, entry.name))
}

function linkedElsewhere(path: string): string {
  return `${path}: the old file is removed and not overwritten, because there is another link to it`
}
