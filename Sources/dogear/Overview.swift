/// What `dogear` alone says.
let overview = """
    Dogear plays audiobooks and podcasts in the background and keeps your place.

      dogear login URL       sign in to your Audiobookshelf server
      dogear continue        what you began and did not finish
      dogear search WORDS    find something
      dogear play [WORDS]    play it, or go on with the last; a file or a folder will do too
      dogear status          what plays and where
      dogear view            all of this on one screen; on a terminal, 'dogear' alone does it
      dogear pause, toggle, next, previous, seek -30, undo, speed 1.25, volume 40%, sleep 30m

    All commands: dogear --help. One of them: dogear play --help. When something is wrong: dogear doctor.
    """
