import { join } from 'node:path'
import type { VerifyReport } from '../core/backup.ts'
import { ParleyError } from '../core/errors.ts'
import type { StoreKey } from '../core/store-key.ts'
import { type DiskForm, PLAIN_FILES, sealedFiles } from '../media/file-form.ts'
import { isIntact, pathIn } from '../media/media-files.ts'
import { filesNamedIn, readSnapshot, type SnapshotFacts } from '../store/engines/snapshot.ts'
import { formOf } from '../store/engines/sqlite-form.ts'
import { checksumOf, DATABASE, filesIn, MANIFEST, type Manifest, readManifest, readPlainFile } from './manifest.ts'
import { countsOf } from './take-backup.ts'

/** The way in which the files of a copy lie in it: as in the store that was copied. */
export function formIn({ encrypted }: Pick<Manifest, 'encrypted'>, key: StoreKey | undefined): DiskForm {
  return encrypted && key !== undefined ? sealedFiles(key) : PLAIN_FILES
}

/**
 * Checks a copy from the manifest to the last file, and changes nothing in it: each checksum, each page of the
 * database, the number of its rows, and that every file which it names can be opened. Throws `unreadable` with what is
 * missing or damaged, `config` for a key that does not fit.
 */
export async function verifyBackup(
  path: string,
  key: StoreKey | undefined,
  progress: (done: number, total: number) => void,
): Promise<VerifyReport & { readonly manifest: Manifest }> {
  const manifest = await readManifest(path)
  await checkFiles(path, manifest, progress)
  const database = join(path, DATABASE)
  if ((formOf(database) === 'encrypted') !== manifest.encrypted) throw damaged(path, 'its database is of another form')
  checkFacts(path, manifest, readSnapshot(database, key))
  await checkMedia(path, manifest, key)
  const bytes = manifest.files.reduce((sum, file) => sum + file.bytes, 0)
  return { path, madeAt: manifest.madeAt, bytes, ...countsOf(manifest), lost: manifest.lost, manifest }
}

async function checkFiles(
  folder: string,
  { files }: Manifest,
  progress: (done: number, total: number) => void,
): Promise<void> {
  const there = await filesIn(folder)
  const wanted = new Set([MANIFEST, ...files.map(({ path }) => path)])
  const more = [...there.keys()].find((path) => !wanted.has(path))
  if (more !== undefined) throw damaged(folder, `${more} is not of it`)
  // A file may claim any size: nothing is read before all of them have that of the manifest.
  for (const { path, bytes } of files) {
    // A path that leads elsewhere is none of those that were found in the folder.
    if (!there.has(path)) throw damaged(folder, `${path} is missing`)
    if (there.get(path) !== bytes) throw damaged(folder, `${path} was changed or cut`)
  }
  for (const [at, { path, sha256 }] of files.entries()) {
    if ((await checksumOf(join(folder, path))).sha256 !== sha256) throw damaged(folder, `${path} was changed or cut`)
    progress(at + 1, files.length)
  }
}

function checkFacts(folder: string, { rows, schema, store }: Manifest, found: SnapshotFacts): void {
  if (found.schema !== schema || found.store !== store) throw damaged(folder, 'its database is that of another copy')
  for (const [table, count] of Object.entries(rows))
    if (found.rows[table] !== count)
      throw damaged(folder, `its database has ${found.rows[table] ?? 'no'} rows of ${table} and not ${count}`)
}

async function checkMedia(folder: string, manifest: Manifest, key: StoreKey | undefined): Promise<void> {
  const form = formIn(manifest, key)
  const lost = new Set(manifest.lost)
  for (const id of filesNamedIn(join(folder, DATABASE), key)) {
    if (lost.has(id)) continue
    const stored = await readPlainFile(join(folder, pathIn({ path: 'media' }, form, id))).catch(() => undefined)
    if (stored === undefined || !(await isIntact(form, id, stored)))
      throw damaged(folder, `the file ${id} of a conversation is missing or cannot be opened`)
  }
}

function damaged(folder: string, what: string): ParleyError {
  return new ParleyError('unreadable', `${folder} is not whole: ${what}`)
}
