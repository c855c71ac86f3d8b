/// What a shell offers when a word is begun and Tab pressed. It comes from titles and names of strangers, and goes to
/// programs that run what they are given: every shell gets it in the form that it takes as text.
public enum Completion {
    public enum Shell: String, CaseIterable, Sendable { case bash, zsh, fish }

    /// Something to offer.
    public struct Candidate: Hashable, Sendable {
        /// As the command takes it.
        public var word: String
        /// What it is; shown beside it by shells that can.
        public var meaning: String

        public init(_ word: String, _ meaning: String = "") {
            self.word = word
            self.meaning = meaning
        }
    }

    /// One line for each, as the script of that shell reads them. What has anything in it that is not shown as it is
    /// would not be what was chosen, and is left out.
    public static func lines(_ candidates: [Candidate], for shell: Shell) -> [String] {
        var known: Set<String> = []
        return candidates.filter {
            !$0.word.isEmpty && Clean.line($0.word) == $0.word && known.insert($0.word).inserted
        }
        .map { candidate in
            let meaning = Clean.line(candidate.meaning)
            switch shell {
            // The script hands it to compgen -W, which would run $(…) and `…` outside of quotes.
            case .bash: return "'" + candidate.word.replacing("'", with: "'\\''") + "'"
            case .zsh:
                let word = candidate.word.replacing(":", with: "\\:")
                return meaning.isEmpty ? word : "\(word):\(meaning)"
            case .fish: return meaning.isEmpty ? candidate.word : "\(candidate.word)\t\(meaning)"
            }
        }
    }

    /// What a word of a command line means once its quotes and backslashes are gone; one that is not at its end yet too.
    public static func unquoted(_ word: some StringProtocol) -> String {
        var out = ""
        var quote: Character?
        var isEscaped = false
        for letter in word {
            if isEscaped {
                // Between double quotes a backslash stands for itself, but before these.
                if quote == "\"", !"\"\\$`".contains(letter) { out.append("\\") }
                out.append(letter)
                isEscaped = false
            } else if letter == "\\", quote != "'" {
                isEscaped = true
            } else if letter == quote {
                quote = nil
            } else if quote == nil, letter == "'" || letter == "\"" {
                quote = letter
            } else {
                out.append(letter)
            }
        }
        return out
    }

    /// The words of a command line, taken apart for the one that is begun.
    public struct Line: Hashable, Sendable {
        /// Commands, then what they act on: neither options nor the values of options.
        public var before: [String]
        /// The word that is begun; it may be empty.
        public var typed: String
        /// With `--profile`.
        public var profile: String?

        /// - Parameters:
        ///   - words: as they stand there, the program first.
        ///   - index: of the word that is begun.
        ///   - shell: fish takes the quotes away itself.
        public init(_ words: [String], _ index: Int, for shell: Shell) {
            func plain(_ word: String) -> String { shell == .fish ? word : Completion.unquoted(word) }
            typed = words.indices.contains(index) ? plain(words[index]) : ""
            let (profile, rest) = Arguments.takingProfile(words.prefix(max(0, index)).dropFirst().map(plain))
            self.profile = profile
            before = []
            var isValue = false
            var isAfterOptions = false
            for word in rest {
                if isValue {
                    isValue = false
                } else if !isAfterOptions, word.hasPrefix("-") {
                    isAfterOptions = word == "--"
                    isValue = Self.taking.contains(word)
                } else {
                    before.append(word)
                }
            }
        }

        /// Options with a value behind them.
        private static let taking: Set<String> = [
            "--at", "--limit", "--page", "--sort", "--author", "--narrator", "--series", "--collection", "--playlist",
            "--genre", "--output", "-o", "--rename", "--remove", "--shuffle", "--loop", "--level", "--days",
        ]
    }

    /// The script as the parser made it, mended in what it cannot know.
    public static func script(_ made: String, for shell: Shell) -> String {
        switch shell {
        case .bash: made + "\n" + wholeWords
        case .zsh:
            made.replacing(
                "if [[ \"${funcstack[1]}\" = _dogear ]]; then",
                with: filesToo + "if [[ \"${funcstack[1]}\" = _dogear ]]; then")
        case .fish: made
        }
    }

    /// bash parts words at colons and the like, `chapter:7` into three: they are put together again, and what stands
    /// there already is taken from what is offered. Its own quoting, of file names, would leave a `$` to be expanded.
    private static let wholeWords = #"""
        _dogear_whole_words() {
            local breaks="${COMP_WORDBREAKS//[[:space:]\"\'<>|&;()]/}"
            local rest="${COMP_LINE}" word="" last="" gap=""
            local -a whole=()
            local -i present=0 i
            for ((i = 0; i < ${#COMP_WORDS[@]}; i++)); do
                word="${COMP_WORDS[i]}"
                gap="${rest%%"${word}"*}"
                rest="${rest#"${gap}${word}"}"
                if ((i > 1)) && [[ -z "${gap}" && -n "${word}" && -n "${last}" ]] \
                    && [[ -z "${word//["${breaks}"]/}" || -z "${last//["${breaks}"]/}" ]]; then
                    whole[${#whole[@]} - 1]+="${word}"
                else
                    whole+=("${word}")
                fi
                last="${word}"
                ((i == COMP_CWORD)) && present=$((${#whole[@]} - 1))
            done
            local head=""
            if [[ "${whole[present]}" != "${COMP_WORDS[COMP_CWORD]}" ]]; then
                head="${whole[present]}"
                [[ -z "${2}" ]] || head="${head%"${2}"}"
            fi
            local -r raw="${COMP_WORDS[COMP_CWORD]}"
            local -a COMP_WORDS=("${whole[@]}")
            local -i COMP_CWORD=present
            _dogear "${1}" "${head}${2}" "${COMP_WORDS[present - 1]}"
            local -i number
            local offered quoted letter end home
            for number in "${!COMPREPLY[@]}"; do
                offered="${COMPREPLY[number]#"${head}"}"
                home="" end=""
                [[ "${offered}" != "~/"* ]] || home="~/"
                offered="${offered#"${home}"}"
                [[ "${offered}" = */ || ! -d "${home:+"${HOME}/"}${offered}" ]] || end=/
                quoted=""
                if [[ "${raw}" = [\"\']* ]]; then
                    for ((i = 0; i < ${#offered}; i++)); do
                        letter="${offered:i:1}"
                        case "${raw:0:1}${letter}" in
                        \"[\"\\\$\`]) quoted+="\\${letter}" ;;
                        "''") quoted+="'\\''" ;;
                        *) quoted+="${letter}" ;;
                        esac
                    done
                elif [[ -n "${offered}" ]]; then
                    printf -v quoted %q "${offered}"
                    quoted="${quoted//\\,/,}"
                fi
                COMPREPLY[number]="${home}${quoted}${end}"
            done
            [[ ${#COMPREPLY[@]} -ne 1 || "${COMPREPLY[0]}" != *[/:] ]] || compopt -o nospace
        }
        complete -F _dogear_whole_words dogear

        """#

    /// Where a path is begun zsh knows best what there is.
    private static let filesToo = #"""
        functions -c __dogear_custom_complete __dogear_own_complete
        __dogear_custom_complete() {
            if [[ "${PREFIX}" = (/|./|../|\~)* ]]; then _files; else __dogear_own_complete "${@}"; fi
        }

        """#
}
