/** A position in the listing of an object storage folder. */
export interface FolderCursor {
  folder: string
  /** The last key that was checked; null at the beginning. */
  after: string | null
}

/** The numbers of files that a clean-up handled. */
export interface CleanedFolders {
  /** Unused uploads, moved to the folder of removed files. They are deleted a day later. */
  removed: number
  /** Removed files that are in use again, moved back. */
  restored: number
  /** Deleted files, including converted copies. */
  deleted: number
}
