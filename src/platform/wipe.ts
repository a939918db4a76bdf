import { randomFillSync } from 'node:crypto'
import { closeSync, fsyncSync, lstatSync, openSync, readdirSync, rmSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'

const PIECE_BYTES = 1024 * 1024

/**
 * Overwrites a file and removes it. What stands elsewhere too is only removed here: `linked` where somebody else has a
 * link to it, `kept` where that is `living`, the file in use.
 *
 * A disk that writes elsewhere what is overwritten (an SSD, a file system with snapshots) may hold the old bytes on.
 */
export function wipe(path: string, living?: string): 'wiped' | 'linked' | 'kept' | 'absent' {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found === undefined) return 'absent'
  const own = found.isFile() && found.nlink === 1
  if (own) overwrite(path, found.size)
  const kept = living !== undefined && lstatSync(living, { throwIfNoEntry: false })?.ino === found.ino
  rmSync(path, { force: true, recursive: true })
  sync(dirname(path))
  if (own) return 'wiped'
  return kept ? 'kept' : 'linked'
}

function overwrite(path: string, size: number): void {
  const noise = randomFillSync(Buffer.alloc(Math.min(PIECE_BYTES, size)))
  const file = openSync(path, 'r+')
  try {
    for (let at = 0; at < size; ) at += writeSync(file, noise, 0, Math.min(noise.length, size - at), at)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

/** Has the content of a file, or the entries of a folder, on disk before it returns. */
export function sync(path: string): void {
  const file = openSync(path, 'r')
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

/** Does the same with a folder and all that is in it. */
export function syncAll(path: string): void {
  for (const entry of readdirSync(path, { withFileTypes: true }))
    if (entry.isDirectory()) syncAll(join(path, entry.name))
    else if (entry.isFile()) sync(join(path, entry.name))
  sync(path)
}
