#pragma once

#include "torchwatch/channel/archive.hpp"

namespace torchwatch::channel {

/// Unpacks what `keep` wants of a wheel, after the rules of archives. Every file is hashed while it
/// is read, also those not kept, and compared with the wheel's RECORD: nothing may be missing,
/// changed or unlisted. (That proves completeness, not origin.) Errors: as unpack_into.
Status unpack_wheel(const std::filesystem::path& wheel, const std::filesystem::path& folder,
                    const ArchiveLimits&, const ArchiveFilter& keep, std::stop_token stop);

struct RecordLine {
  std::string name;
  std::string sha256;  ///< 32 raw bytes; empty: the record gives none
};

/// The lines `name,sha256=HASH,size` of a RECORD (comma-separated, names perhaps in quotes).
/// Errors: corrupt.
Result<std::vector<RecordLine>> parse_record(const std::string& text);

/// Compares what an archive held with its RECORD, which alone needs no hash. Errors: corrupt.
Status check_against_record(const std::vector<ArchiveMember>&, const std::vector<RecordLine>&,
                            const std::string& record_name);

}  // namespace torchwatch::channel
