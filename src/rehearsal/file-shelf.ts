import { createHash } from 'node:crypto'

/** A file that somebody puts into a rehearsed chat. */
export interface NewFile {
  readonly bytes: Uint8Array
  readonly name?: string
  /** The type in the words of the sender's client, whatever it is. */
  readonly mime?: string
  /** The size that the platform says, where it is not the true one. */
  readonly saidSize?: number
}

export interface ShelvedFile extends NewFile {
  /** Counted up from 1. */
  readonly no: number
  readonly size: number
  /** Nobody guesses it; proves that a link to the file came from the platform. */
  readonly secret: string
  /** False once it was deleted there. */
  held: boolean
}

/** The files of a rehearsed platform. */
export class FileShelf {
  readonly #files: ShelvedFile[] = []

  put(file: NewFile): ShelvedFile {
    const no = this.#files.length + 1
    const secret = createHash('sha256').update(`${no}`).update(file.bytes).digest('hex').slice(0, 32)
    const shelved = { ...file, no, size: file.saidSize ?? file.bytes.length, secret, held: true }
    this.#files.push(shelved)
    return shelved
  }

  /** Returns a file that is still held. */
  find(isIt: (file: ShelvedFile) => boolean): ShelvedFile | undefined {
    return this.#files.find((file) => file.held && isIt(file))
  }

  /** Deletes all files, as when a link is followed too late. */
  clear(): void {
    for (const file of this.#files) file.held = false
  }
}
